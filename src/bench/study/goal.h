/* One thing that is asked of ferry by a study. */
#pragma once
#define STUDY_LABEL_MAX 64
#define STUDY_NOTE_MAX  256

/* What is asked of ferry, and what came of it. */
enum study_verdict { STUDY_UNDECIDED, STUDY_MET, STUDY_MISSED };

struct study_goal {
    char text[2 * STUDY_LABEL_MAX];
    double least, value;     /* the median of the runs */
    double low, high;        /* of single runs */
    unsigned count, reached; /* cells that it is about, and that reach it */
    unsigned missed;         /* those of which no run does */
    enum study_verdict verdict;
    char why[STUDY_NOTE_MAX]; /* what is not decided, or the cell that is farthest from it */
};
