//! The archive as its callers and other tools see it.

mod captures;
mod crash;
mod full_disk;
mod index;
mod mutated;
mod tools;
