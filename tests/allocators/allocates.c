/* A program with known allocations: sizes that no other code uses, in classes of their own. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 1000, BLOCKS = 100 };

static void must(int holds) {
    if (!holds) abort();
}

/* Each thread frees the blocks of the thread before, so that a block ends in another thread than it began. */
static void *left[THREADS][BLOCKS];
static pthread_barrier_t all;

static void *work(void *argument) {
    long thread = (long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        char *block = malloc(10001);
        must(block != NULL);
        memset(block, 1, 10001);
        block = realloc(block, 20001);
        must(block != NULL && block[10000] == 1);
        free(block);
        char *zeros = calloc(3, 10001);
        must(zeros != NULL && zeros[30002] == 0);
        free(zeros);
        void *aligned = NULL;
        must(posix_memalign(&aligned, 4096, 40001) == 0 && (size_t)aligned % 4096 == 0);
        free(aligned);
        aligned = aligned_alloc(64, 64 * 800);
        must(aligned != NULL && (size_t)aligned % 64 == 0);
        free(aligned);
        aligned = memalign(256, 60001);
        must(aligned != NULL && (size_t)aligned % 256 == 0);
        free(aligned);
        aligned = valloc(80001);
        must(aligned != NULL && (size_t)aligned % 4096 == 0);
        free(aligned);
        block = reallocarray(NULL, 10, 10001);
        must(block != NULL);
        /* Too much: the block stays. */
        must(realloc(block, (size_t)-1 / 4) == NULL);
        must(reallocarray(block, (size_t)-1 / 2, 4) == NULL);
        must(calloc((size_t)-1 / 2, 4) == NULL);
        free(block);
        free(NULL);
    }
    for (int i = 0; i < BLOCKS; i++) must((left[thread][i] = malloc(120001)) != NULL);
    pthread_barrier_wait(&all);
    for (int i = 0; i < BLOCKS; i++) free(left[(thread + 1) % THREADS][i]);
    return NULL;
}

static void threads(void) {
    pthread_t thread[THREADS];
    pthread_barrier_init(&all, NULL, THREADS);
    for (long i = 0; i < THREADS; i++) must(pthread_create(&thread[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) must(pthread_join(thread[i], NULL) == 0);
}

/* A hundred blocks, freed by parent and child; fifty of the child; thirty of one that is killed. */
static void forks(void) {
    void *block[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) must((block[i] = malloc(10001)) != NULL);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < BLOCKS; i++) free(block[i]);
        for (int i = 0; i < BLOCKS / 2; i++) must((block[i] = malloc(20001)) != NULL);
        for (int i = 0; i < BLOCKS / 2; i++) free(block[i]);
        must((block[0] = malloc(40001)) != NULL);
        _exit(0);
    }
    must(waitpid(child, NULL, 0) == child);
    for (int i = 0; i < BLOCKS; i++) free(block[i]);
    child = fork();
    if (child == 0) {
        for (int i = 0; i < 30; i++) must(malloc(80001) != NULL);
        raise(SIGKILL);
    }
    must(waitpid(child, NULL, 0) == child);
}

/* One lives as long as all the short ones together at least; one longer than that. */
static void lives(void) {
    void *longest = malloc(10001), *lasting = malloc(20001);
    must(longest != NULL && lasting != NULL);
    for (int i = 0; i < 10 * ROUNDS; i++) {
        void *brief = malloc(40001);
        must(brief != NULL);
        free(brief);
    }
    free(lasting);
}

int main(int count, char **words) {
    must(count > 1);
    if (strcmp(words[1], "threads") == 0) threads();
    if (strcmp(words[1], "forks") == 0) forks();
    if (strcmp(words[1], "lives") == 0) lives();
    if (strcmp(words[1], "execs") == 0) {
        pid_t child = vfork();
        if (child == 0) {
            execl(words[0], words[0], "forks", (char *)NULL);
            _exit(1);
        }
        must(waitpid(child, NULL, 0) == child);
        execl(words[0], words[0], "threads", (char *)NULL);
        abort();
    }
    return 0;
}
