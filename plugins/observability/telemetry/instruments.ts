/**
 * Metrics by name, with the names of OpenTelemetry's semantic conventions where those exist. Label values come from
 * short lists in this code, never from users, addresses or raw paths, so that the number of series is bounded.
 */

interface Instrument {
  description: string
  unit?: string
  labels: readonly string[]
}

interface Counter extends Instrument {
  /** Series exported as 0 from the start: `increase()` misses the first count of a new series. */
  from0?: readonly Record<string, string>[]
}

interface Histogram extends Instrument {
  /** Upper bounds of the buckets. */
  boundaries: readonly number[]
}

const each = (label: string, ...values: string[]) => values.map((value) => ({ [label]: value }))

/** Monotonic. */
export const counters = {
  'postern.sign_ins': {
    description: 'Sign-in attempts',
    labels: ['method', 'outcome'],
  },
  'postern.sign_in_failures': {
    description: 'Failed sign-in attempts, by error code',
    labels: ['method', 'reason'],
  },
  'postern.audit_log_entries': {
    description: 'Audit log entries, by action',
    labels: ['action'],
  },
  'postern.token_refreshes': {
    description: 'Refresh tokens presented: rotated, reused, reuse_detected or rejected',
    labels: ['outcome'],
    from0: each('outcome', 'rotated', 'reused', 'reuse_detected', 'rejected'),
  },
  'postern.emails': {
    description: 'Attempts to send an email: sent, temporary, permanent or unknown',
    labels: ['outcome'],
    from0: each('outcome', 'sent', 'temporary', 'permanent', 'unknown'),
  },
  'postern.sms': {
    description: 'Attempts to send an SMS: sent or failed',
    labels: ['outcome'],
    from0: each('outcome', 'sent', 'failed'),
  },
  'postern.send_quota.exceeded': {
    description: 'Messages not sent because the quota of the server was exceeded',
    labels: ['channel'],
    from0: each('channel', 'email', 'sms'),
  },
  'postern.hook_calls': {
    description: 'Hook calls: ok, rejected, unreachable, failed, timeout or invalid_response',
    labels: ['hook', 'outcome'],
  },
  'postern.webhook_deliveries': {
    description: 'Webhook delivery attempts: delivered, waiting or dead',
    labels: ['outcome'],
  },
  'postern.outgoing_requests': {
    description:
      'Requests to other servers: ok, rejected (4xx), failed (5xx), timeout or unreachable',
    labels: ['host', 'outcome'],
  },
  'postern.jobs': {
    description: 'Job attempts: done or failed',
    labels: ['task', 'outcome'],
  },
  'postern.errors': {
    description: 'Error responses, by error code',
    labels: ['error_code'],
  },
  'postern.rate_limit.exceeded': {
    description: 'Requests rejected by the rate limit of a client address',
    labels: ['limiter'],
  },
  'postern.rate_limit.shared_store_failures': {
    description: 'Requests counted by this process alone because Redis was unavailable',
    labels: [],
    from0: [{}],
  },
  'postern.read_replica.fallbacks': {
    description: 'Reads by the primary for a replica: unavailable, lagging, own_write, failed',
    labels: ['reason'],
    from0: each('reason', 'unavailable', 'lagging', 'own_write', 'failed'),
  },
  'postern.password_hashes.rejected': {
    description: 'Password checks rejected because the queue was full',
    labels: [],
    from0: [{}],
  },
} as const satisfies Record<string, Counter>

/** Durations in seconds. */
export const histograms = {
  'db.client.connection.wait_time': {
    description: 'Time to obtain a database connection from the pool',
    labels: [],
    boundaries: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5],
  },
  'db.client.operation.duration': {
    description: 'Duration of statements, by operation and table',
    labels: ['db.query.summary'],
    boundaries: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5],
  },
  'postern.password_hash.duration': {
    description: 'Time to hash or verify a password, without the time in the queue',
    labels: [],
    boundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
  },
  'postern.password_hash.wait': {
    description: 'Time that a password waited in the queue',
    labels: [],
    boundaries: [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 5],
  },
} as const satisfies Record<string, Histogram>

/** Observed at collection. */
export const gauges = {
  'postern.emails.queued': { description: 'Emails in the queue', labels: [] },
  'postern.emails.oldest_queued_age': {
    description: 'Age of the oldest email in the queue',
    unit: 's',
    labels: [],
  },
  'postern.emails.dead_lettered': { description: 'Emails in the dead letters', labels: [] },
  'postern.send_quota.left': {
    description: 'Messages of this purpose that the server may still send in this hour',
    labels: ['channel', 'purpose'],
  },
  'postern.jobs.queued': {
    description: 'Jobs in the queue, those scheduled for later included',
    labels: ['task'],
  },
  'postern.jobs.failed': { description: 'Jobs that failed permanently', labels: ['task'] },
  'postern.jobs.oldest_due_age': {
    description: 'Time since the oldest due job became due',
    unit: 's',
    labels: [],
  },
  'postern.cleanup.age': {
    description: 'Time since the last cleanup',
    unit: 's',
    labels: [],
  },
  'postern.password_hashes.waiting': {
    description: 'Passwords in the queue to be hashed or verified',
    labels: [],
  },
  'db.client.connection.count': {
    description: 'Database connections in the pool: used or idle',
    labels: ['db.client.connection.state'],
  },
  'db.client.connection.pending_requests': {
    description: 'Statements that wait for a connection',
    labels: [],
  },
  'postern.read_replica.lag': { description: 'Age of its data', unit: 's', labels: ['replica'] },
  'postern.read_replica.usable': { description: '1 while reads go to it', labels: ['replica'] },
  'postern.redis.up': { description: '1 while Redis is available, else 0', labels: [] },
  'postern.ready': { description: '1 while GET /ready responds with 200, else 0', labels: [] },
  'postern.signing_key.age': {
    description: 'Age of the current signing key',
    unit: 's',
    labels: [],
  },
  'process.memory.usage': { description: 'Resident memory', unit: 'By', labels: [] },
  'process.open_file_descriptor.count': { description: 'Open file descriptors', labels: [] },
} as const satisfies Record<string, Instrument>

/** Observed at collection, monotonic. */
export const readCounters = {
  'process.cpu.time': { description: 'Processor time', unit: 's', labels: ['cpu.mode'] },
} as const satisfies Record<string, Instrument>

const read = { ...gauges, ...readCounters }

export type CounterName = keyof typeof counters
export type HistogramName = keyof typeof histograms
export type GaugeName = keyof typeof read

type LabelsOf<I extends Instrument> = Record<I['labels'][number], string>
export type CounterLabels<N extends CounterName> = LabelsOf<(typeof counters)[N]>
export type HistogramLabels<N extends HistogramName> = LabelsOf<(typeof histograms)[N]>
type GaugeLabels<N extends GaugeName> = LabelsOf<(typeof read)[N]>

export interface Reading<N extends GaugeName> {
  value: number
  labels: GaugeLabels<N>
}
