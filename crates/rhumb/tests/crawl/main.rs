//! The real crawler against the synthetic web over real sockets, with a real name server.

mod bad_input;
mod complete;
mod extracted;
mod killed;
mod near;
mod orders;
mod site;
