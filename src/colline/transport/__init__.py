"""Event → somewhere: queues, batches, spool and the transports that carry events without hurting the job."""
