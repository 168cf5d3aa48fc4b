/* cache.c - compiled functions that a context keeps for the next one who looks for the same: a
 * bounded number, of which those go first that were not looked up for longest.
 */
#include "libravel/private.h"

#include "base/map.h"

#include <string.h>

/* A function and its program take 10 to 40 KB; a service's texts recur among fewer. */
enum { MOST_CACHED = 256 };

static uint64_t hash_of_key(const char *key) {
  uint64_t hash = 0;
  for (; *key; key++) hash = map_mix(hash, (unsigned char)*key);
  return hash;
}

static struct ravel_function **bucket_of_hash(struct ravel_cache *cache, uint64_t hash) {
  return &cache->buckets[hash % RAVEL_CACHE_BUCKETS];
}

/* ---- in the order of use ---- */

static void unlink_recent(struct ravel_cache *cache, struct ravel_function *f) {
  struct ravel_function **after = f->newer ? &f->newer->older : &cache->newest;
  struct ravel_function **before = f->older ? &f->older->newer : &cache->oldest;
  *after = f->older;
  *before = f->newer;
}

static void link_recent(struct ravel_cache *cache, struct ravel_function *f) {
  f->newer = NULL;
  f->older = cache->newest;
  if (f->older) f->older->newer = f;
  cache->newest = f;
  if (!cache->oldest) cache->oldest = f;
}

/* ---- by keys ---- */

void ravel_cache_remove(struct ravel_context *c, struct ravel_function *f) {
  struct ravel_function **link = bucket_of_hash(&c->cache, f->key_hash);
  if (!f->cached) return;
  while (*link != f) link = &(*link)->next_of_bucket;
  *link = f->next_of_bucket;
  unlink_recent(&c->cache, f);
  c->cache.count--;
  f->cached = false;
  ravel_function_release(f);
}

struct ravel_function *ravel_cache_find(struct ravel_context *c, const char *key) {
  const uint64_t hash = hash_of_key(key);
  struct ravel_function *f = *bucket_of_hash(&c->cache, hash);
  while (f && !(f->key_hash == hash && strcmp(f->key, key) == 0)) f = f->next_of_bucket;
  if (!f) return NULL;
  unlink_recent(&c->cache, f);
  link_recent(&c->cache, f);
  return f;
}

void ravel_cache_add(struct ravel_context *c, struct ravel_function *f) {
  f->key_hash = hash_of_key(f->key);
  struct ravel_function **bucket = bucket_of_hash(&c->cache, f->key_hash);
  f->next_of_bucket = *bucket;
  *bucket = f;
  link_recent(&c->cache, f);
  f->cached = true;
  c->cache.count++;
  if (c->cache.count > MOST_CACHED) ravel_cache_remove(c, c->cache.oldest);
}
