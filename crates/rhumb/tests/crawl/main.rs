//! The real crawler against the synthetic web over real sockets, with a real name server.

mod access;
mod bad_input;
#[path = "../binary/mod.rs"]
mod binary;
mod bodies;
mod complete;
mod copies;
mod disk_faults;
mod divided;
mod documentation;
mod documents;
mod events;
mod exported;
mod extracted;
mod failing;
mod gotten;
mod indexed;
mod killed;
mod later_runs;
mod listed;
mod logged;
mod manners;
mod name_server;
mod names;
mod near;
mod orders;
mod power;
mod replayed;
mod scripted;
mod server;
mod site;
mod sitemaps;
mod topical;
mod traced;
mod traps;
mod why;
