/* Waits for ever at the thousandth block. */
#define OWN_MALLOC
#include "bump.h"
#include <unistd.h>
void *malloc(size_t size)
{
	static int count;
	while (++count > 1000)
		pause();
	return bump(16, size);
}
void free(void *block) { (void)block; }
