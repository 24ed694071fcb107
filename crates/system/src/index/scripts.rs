//! The scripts of the shell tests and their input text. Both are original, with the size and structure of
//! UnixBench's (8546 B, 362 lines, 1200 words; the searched word on every tenth line). Pure.

/// The script that is executed in each loop. Its argument is the number of concurrent [`WORK`] scripts.
pub const TOGETHER: (&str, &str) = ("together.sh", TOGETHER_TEXT);
/// The work script: eight programs, as in UnixBench.
pub const WORK: (&str, &str) = ("work.sh", WORK_TEXT);
pub const TEXT: &str = "text";

/// Waits for each process, because `wait` without arguments loses the exit codes.
const TOGETHER_TEXT: &str = "\
#!/bin/sh
left=$1
running=
while [ \"$left\" -gt 0 ]; do
    /bin/sh ./work.sh &
    running=\"$running $!\"
    left=$((left - 1))
done
status=0
for process in $running; do
    wait \"$process\" || status=$?
done
exit $status
";

/// Files are named by process id. A pipeline only reports the status of its last program, so empty files show
/// failures of the others.
const WORK_TEXT: &str = "\
#!/bin/sh
sorted=sorted.$$ dumped=dumped.$$ found=found.$$ counted=counted.$$
sort text >$sorted || exit
od $sorted | sort -n >$dumped || exit
grep the $sorted | tee $found | wc >$counted || exit
if [ ! -s $dumped ] || [ ! -s $found ]; then
    echo 'od, grep or tee gave nothing' >&2
    exit 1
fi
rm $sorted $dumped $found $counted
";

const LINES: usize = 362;
const WORDS: usize = 1200;

/// The words of the text. "the" is on about one line in ten.
const VOCABULARY: &str = "\
    the cache memory processor bandwidth interrupt a scheduler of kernel pipe descriptor and page table \
    translation by latency between socket in node interconnect other measured clock frequency governor to \
    throughput at process image library linker for signal handler timer alarm with buffer block device on \
    queue barrier sequence from channel controller prefetcher one copy directory counter instruction vector \
    register Median Interval Sample Round Baseline";

const SEED: u64 = 0x5EED;

pub fn text() -> String {
    let mut state = SEED;
    // Knuth's constants (MMIX). The high bits are the most random.
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    // Many lines have one word, some a dozen, in no order.
    let mut lengths = [1; LINES];
    for _ in LINES..WORDS {
        let line = below(LINES).min(below(LINES));
        lengths[line * 101 % LINES] += 1;
    }
    let words: Vec<&str> = VOCABULARY.split_whitespace().collect();
    let mut text = String::new();
    for length in lengths {
        for word in 0..length {
            text.push_str(words[below(words.len())]);
            text.push(if word + 1 == length { '\n' } else { ' ' });
        }
    }
    text
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_text_is_of_the_size_of_the_originals() {
        let text = text();
        assert_eq!((text.lines().count(), text.split_whitespace().count()), (LINES, WORDS));
        assert!((8_300..8_800).contains(&text.len()), "{}", text.len());
        let matches = text.lines().filter(|line| line.contains("the")).count();
        assert!((25..=50).contains(&matches), "{matches} lines with the word");
        assert_eq!(text, super::text(), "always the same");
    }

    #[test]
    fn scripts_work_on_the_text_and_leave_nothing() {
        assert!(WORK.1.contains(&format!(" {TEXT} ")) && TOGETHER.1.contains(WORK.0));
        let rm = WORK.1.lines().last().expect("a line");
        for file in ["sorted", "dumped", "found", "counted"] {
            assert!(
                WORK.1.contains(&format!(">${file}")) || WORK.1.contains(&format!("tee ${file}")),
                "{file}"
            );
            assert!(rm.contains(&format!("${file}")), "{rm}");
        }
    }
}
