/* All that a program can ask for. */
#include "bump.h"
void *memalign(size_t align, size_t size) { return bump(align, size); }
void *valloc(size_t size) { return bump(4096, size); }
size_t malloc_usable_size(void *block) { return block ? ((size_t *)block)[-1] : 0; }
