/* fake-nvrtc.c - a library that says it is an NVRTC of long ago, for test-compiler.cpp. */
int nvrtcVersion(int *major, int *minor);
int nvrtcVersion(int *major, int *minor) {
  *major = 11;
  *minor = 8;
  return 0;
}

const char *nvrtcGetErrorString(int result);
const char *nvrtcGetErrorString(int result) {
  return result ? "trouble" : "success";
}
