/* The smallest allocator: each block behind the one before, out of mapped memory, never given back. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static char *next_byte, *end;
static int lock;

static void *bump(size_t align, size_t size)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		;
	uintptr_t at = ((uintptr_t)next_byte + 16 + align - 1) & ~(align - 1);
	if (!next_byte || at + size > (uintptr_t)end) {
		size_t bytes = size + align + (64 << 20);
		next_byte = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		end = next_byte + bytes;
		at = ((uintptr_t)next_byte + 16 + align - 1) & ~(align - 1);
	}
	((size_t *)at)[-1] = size;
	next_byte = (char *)at + size;
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	return (void *)at;
}

#ifndef OWN_MALLOC
void *malloc(size_t size) { return bump(16, size); }
void free(void *block) { (void)block; }
#endif
void *calloc(size_t count, size_t size) { return memset(bump(16, count * size), 0, count * size); }
void *realloc(void *block, size_t size)
{
	void *fresh = bump(16, size);
	if (block)
		memcpy(fresh, block, ((size_t *)block)[-1] < size ? ((size_t *)block)[-1] : size);
	return fresh;
}
int posix_memalign(void **block, size_t align, size_t size) { *block = bump(align, size); return 0; }
void *aligned_alloc(size_t align, size_t size) { return bump(align, size); }
#ifndef C_ONLY
void *_Znwm(size_t size) { return bump(16, size); }
void _ZdlPv(void *block) { (void)block; }
#endif
