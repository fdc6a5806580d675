/* The floor: starts a program with posix_spawn and waits for it, layer after layer, some at once, and nothing else.
   usage: floor PROGRAM AT_ONCE LAYERS TOOLS_PER_LAYER */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static void wait_for_one(void) {
    int status;
    if (wait(&status) < 0 || status != 0) {
        fprintf(stderr, "a program failed\n");
        exit(2);
    }
}

static void start(char *program) {
    char *arguments[] = {program, NULL}, *environment[] = {NULL};
    pid_t child;
    if (posix_spawn(&child, program, NULL, NULL, arguments, environment) != 0) {
        fprintf(stderr, "cannot start %s\n", program);
        exit(2);
    }
}

int main(int count, char **words) {
    if (count != 5) {
        fprintf(stderr, "usage: floor PROGRAM AT_ONCE LAYERS TOOLS_PER_LAYER\n");
        return 2;
    }
    int at_once = atoi(words[2]), layers = atoi(words[3]), tools = atoi(words[4]);
    for (int layer = 0; layer < layers; layer++) {
        int running = 0;
        for (int tool = 0; tool < tools; tool++, running++) {
            if (running == at_once) {
                wait_for_one();
                running--;
            }
            start(words[1]);
        }
        for (; running > 0; running--) wait_for_one();
    }
    return 0;
}
