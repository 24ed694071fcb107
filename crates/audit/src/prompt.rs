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
    rest
}

/// What follows the first prompt or label; `None` where there is none.
fn behind_prompt(text: &str) -> Option<&str> {
    let is_labelled = text.contains(": ");
    let mut rest = text.trim_start();
    for _ in 0..PROMPT_WORDS {
        let (word, after) = rest.split_at(rest.find(char::is_whitespace)?);
        let after = after.trim_start();
        let is_end =
            word.ends_with(PROMPT_ENDS) && !word.starts_with("##") && !word.contains('=') || word == "~";
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
