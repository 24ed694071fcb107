/* Allocates and frees a hundred thousand blocks, and keeps a thousand: enough to show in its memory. */
#include <stdlib.h>
#include <string.h>
int main(void)
{
	static char *slots[1000];
	for (int step = 0; step < 100000; step++) {
		char **slot = &slots[(step * 7919) % 1000];
		free(*slot);
		*slot = malloc(100 + step % 500);
		memset(*slot, 1, 100);
	}
	return 0;
}
