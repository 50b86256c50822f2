//! The reading thread: answers the engine's questions as the state has it.

use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{Answer, Event, Question};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender};
use std::thread::JoinHandle;

pub fn start(
    answer: impl Fn(Question) -> Result<Answer, Error> + Send + 'static,
    questions: Receiver<Question>,
    events: Sender<Event>,
    failed: Sender<Error>,
) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("rhumb-reader".into()).spawn(move || {
        while let Ok(question) = questions.recv() {
            // A panic in there must not leave the engine waiting for an answer.
            let answered = catch_unwind(AssertUnwindSafe(|| answer(question)));
            let what = "state: a question could not be answered";
            match answered.unwrap_or_else(|_| Err(Error::new(ErrorKind::Corrupt, what))) {
                Ok(answer) => {
                    if events.send(Event::Answered(answer)).is_err() {
                        return;
                    }
                }
                Err(error) => {
                    let _ = failed.send(error);
                    // Wakes the loop, which then finds the error.
                    let _ = events.send(Event::Tick);
                    return;
                }
            }
        }
    })
}
