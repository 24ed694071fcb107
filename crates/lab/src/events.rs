//! The channel for events from a measurement to the live view.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use figure::Event;

/// Events that the channel holds. A slower receiver loses the rest.
const DEPTH: usize = 256;

/// The sending end. Sending never blocks: an event that finds the channel full is counted and dropped.
#[derive(Clone, Debug)]
pub struct Events {
    sender: SyncSender<Event>,
    dropped: Arc<AtomicU64>,
}

impl Events {
    pub fn channel() -> (Events, Receiver<Event>) {
        let (sender, receiver) = sync_channel(DEPTH);
        (Events { sender, dropped: Arc::default() }, receiver)
    }

    pub fn send(&self, event: Event) {
        if self.sender.try_send(event).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_receiver_loses_events_and_blocks_nothing() {
        let (events, receiver) = Events::channel();
        for number in 0..DEPTH + 10 {
            events.send(Event::Note { text: number.to_string() });
        }
        assert_eq!(events.dropped(), 10);
        assert_eq!(receiver.try_iter().count(), DEPTH);
    }
}
