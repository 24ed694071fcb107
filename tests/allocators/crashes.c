/* Crashes at the thousandth block. */
#define OWN_MALLOC
#include "bump.h"
void *malloc(size_t size)
{
	static int count;
	if (++count > 1000)
		*(volatile int *)8 = 0;
	return bump(16, size);
}
void free(void *block) { (void)block; }
