/* fake-nvrtc.c - a library for tests that says it is an NVRTC, a very old one unless FAKE_MAJOR
 * gives another version. It has all functions that are used of NVRTC, so that only its number
 * gives it away; but it compiles nothing. */
#ifndef FAKE_MAJOR
#define FAKE_MAJOR 11
#endif

int nvrtcVersion(int *major, int *minor);
int nvrtcVersion(int *major, int *minor) {
  *major = FAKE_MAJOR;
  *minor = 8;
  return 0;
}

int nvrtcGetNumSupportedArchs(int *count);
int nvrtcGetNumSupportedArchs(int *count) {
  *count = 1;
  return 0;
}

int nvrtcGetSupportedArchs(int *architectures);
int nvrtcGetSupportedArchs(int *architectures) {
  *architectures = 90;
  return 0;
}

const char *nvrtcGetErrorString(int result);
const char *nvrtcGetErrorString(int result) {
  return result ? "trouble" : "success";
}

#define MERELY_THERE(name)                                                                     \
  int name(void);                                                                              \
  int name(void) {                                                                             \
    return 1;                                                                                  \
  }
MERELY_THERE(nvrtcCreateProgram)
MERELY_THERE(nvrtcDestroyProgram)
MERELY_THERE(nvrtcCompileProgram)
MERELY_THERE(nvrtcGetProgramLogSize)
MERELY_THERE(nvrtcGetProgramLog)
MERELY_THERE(nvrtcGetCUBINSize)
MERELY_THERE(nvrtcGetCUBIN)
MERELY_THERE(nvrtcGetPTXSize)
MERELY_THERE(nvrtcGetPTX)
