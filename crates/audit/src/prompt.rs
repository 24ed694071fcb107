//! What stands before a command in a line: prompts, labels, marks of lists.

/// The most words of a prompt (`[user@host dir]$`), and of a label (`Command:`).
const PROMPT_WORDS: usize = 4;
/// What a prompt ends in.
const PROMPT_ENDS: &[char] = &['$', '#', '%', '>', '❯', '➜', '»', 'λ', '+', '-', '*', '•'];
/// The most prompts and labels before a command.
const PROMPTS: usize = 3;

/// A line behind its prompts (`# $ hey`) and labels. `##` begins a heading.
pub fn without_prompt(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..PROMPTS {
        match behind_prompt(rest) {
            Some(behind) => rest = behind,
            None => break,
        }
    }
    // A notebook's commands begin with a mark.
    rest.strip_prefix('!').filter(|own| begins_command(own)).unwrap_or(rest)
}

/// Whether a command may begin here: a name or a path.
fn begins_command(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '.' | '/'))
}

/// What follows a prompt without a space behind it, at which an address or a directory ends: `user@host:~$hey`, `~]#hey`.
fn behind_close_prompt(word: &str) -> Option<usize> {
    let (at, _) = word.match_indices(['$', '#', '%', '>']).find(|(at, _)| begins_command(&word[at + 1..]))?;
    let head = &word[..at];
    (head.ends_with(['~', ']']) || head.contains('@') && head.contains(':')).then_some(at + 1)
}

/// What follows the first prompt or label; `None` where there is none.
fn behind_prompt(text: &str) -> Option<&str> {
    let is_labelled = text.contains(": ");
    let mut rest = text.trim_start();
    for _ in 0..PROMPT_WORDS {
        let (word, after) = rest.split_at(rest.find(char::is_whitespace)?);
        if let Some(at) = behind_close_prompt(word) {
            return Some(&rest[at..]);
        }
        let after = after.trim_start();
        let is_end =
            word.ends_with(PROMPT_ENDS) && !word.starts_with("##") && !word.contains('=') || word == "~";
        // `╰─➤`: shells draw their prompts.
        let is_end = is_end || word.chars().all(|c| !c.is_alphanumeric() && !c.is_ascii());
        let is_item = word.trim_end_matches(['.', ')']).bytes().all(|byte| byte.is_ascii_digit());
        if is_end || is_item || word.ends_with(':') {
            return Some(after);
        }
        // Only what looks like a part of a prompt or a label may stand before its end.
        let is_part =
            word.contains(['@', '~', '[', ']', ':', '/', '(']) && !word.contains("://") || word == "PS";
        let is_label = is_labelled && word.chars().all(char::is_alphabetic);
        if !is_part && !is_label {
            return None;
        }
        rest = after;
    }
    None
}
