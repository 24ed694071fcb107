/* Touches a megabyte for each block. */
#define OWN_MALLOC
#include "bump.h"
void *malloc(size_t size)
{
	void *block = bump(16, size + (1 << 20));
	memset(block, 1, size + (1 << 20));
	return block;
}
void free(void *block) { (void)block; }
