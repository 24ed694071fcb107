/* Gives the same block twice. */
#define OWN_MALLOC
#include "bump.h"
void *malloc(size_t size)
{
	static void *last;
	static size_t bytes;
	static int count;
	if (++count % 2 && last && size <= bytes)
		return last;
	bytes = size;
	return last = bump(16, size);
}
void free(void *block) { (void)block; }
