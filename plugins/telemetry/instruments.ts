/**
 * What is counted and measured, by name. A label takes its values from a short list in our code, never from people,
 * addresses or paths as they were typed: the number of series must not grow with use.
 */

interface Instrument {
  description: string
  unit?: string
  labels: readonly string[]
}

interface Counter extends Instrument {
  /** Series that are there from the start, at 0: an alert does not see a series begin. */
  from0?: readonly Record<string, string>[]
}

interface Histogram extends Instrument {
  /** Upper ends of its buckets. */
  boundaries: readonly number[]
}

const each = (label: string, ...values: string[]) => values.map((value) => ({ [label]: value }))

/** Only go up. */
export const counters = {
  'postern.sign_ins': {
    description: 'Attempts to open a session',
    labels: ['method', 'outcome'],
  },
  'postern.sign_in_refusals': {
    description: 'Attempts to open a session that were refused, by error code',
    labels: ['method', 'reason'],
  },
  'postern.events': {
    description: 'What the audit trail records: sign-ups, sign-ins, changes',
    labels: ['action'],
  },
  'postern.token_refreshes': {
    description: 'Refresh tokens presented: rotated, reused, reuse_detected or refused',
    labels: ['outcome'],
    from0: each('outcome', 'rotated', 'reused', 'reuse_detected', 'refused'),
  },
  'postern.mails': {
    description: 'Attempts to hand over a mail: sent, temporary, permanent or ambiguous',
    labels: ['outcome'],
    from0: each('outcome', 'sent', 'temporary', 'permanent', 'ambiguous'),
  },
  'postern.text_messages': {
    description: 'Attempts to hand over a text message: sent or failed',
    labels: ['outcome'],
    from0: each('outcome', 'sent', 'failed'),
  },
  'postern.send_quota_refusals': {
    description: 'Messages that were not sent because the quota of everybody together was spent',
    labels: ['channel'],
    from0: each('channel', 'email', 'sms'),
  },
  'postern.hook_calls': {
    description: 'Calls of hooks: answered, refused, unreachable, failed, silent or unreadable',
    labels: ['hook', 'outcome'],
  },
  'postern.webhook_deliveries': {
    description: 'Attempts to deliver an event to a webhook: delivered, waiting or dead',
    labels: ['outcome'],
  },
  'postern.outgoing_requests': {
    description:
      'Requests to other servers: ok, refused (4xx), failed (5xx), silent or unreachable',
    labels: ['host', 'outcome'],
  },
  'postern.jobs': {
    description: 'Jobs of the queue that ended: done or failed',
    labels: ['task', 'outcome'],
  },
  'postern.refusals': {
    description: 'Requests answered with an error, by its code',
    labels: ['error_code'],
  },
  'postern.rate_limit.refusals': {
    description: 'Requests refused by a limit of the client address',
    labels: ['limiter'],
  },
  'postern.rate_limit.shared_store_failures': {
    description: 'Requests counted by this process alone because Redis did not answer',
    labels: [],
    from0: [{}],
  },
  'postern.password_hashes.refused': {
    description: 'Passwords not looked at because too many waited already',
    labels: [],
    from0: [{}],
  },
} as const satisfies Record<string, Counter>

/** How long something took, in seconds. */
export const histograms = {
  'postern.db_pool.wait': {
    description: 'Time that work waited for a database connection',
    labels: [],
    boundaries: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5],
  },
  'postern.db.statement.duration': {
    description: 'Duration of statements, by what they do first and to which table',
    labels: ['statement'],
    boundaries: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5],
  },
  'postern.password_hash.duration': {
    description: 'Time to hash or compare a password, without waiting',
    labels: [],
    boundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
  },
  'postern.password_hash.wait': {
    description: 'Time that a password waited for a processor',
    labels: [],
    boundaries: [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 5],
  },
} as const satisfies Record<string, Histogram>

/** Read when metrics are collected. */
export const gauges = {
  'postern.mails.waiting': { description: 'Mails not sent yet', labels: [] },
  'postern.mails.oldest_waiting': {
    description: 'Age of the oldest mail not sent yet',
    unit: 's',
    labels: [],
  },
  'postern.mails.dead': { description: 'Mails given up, kept for the operator', labels: [] },
  'postern.send_quota.left': {
    description: 'Messages that may still be sent in this hour, by everybody together',
    labels: ['channel'],
  },
  'postern.jobs.waiting': {
    description: 'Jobs of the queue that are not done yet, those of later included',
    labels: ['task'],
  },
  'postern.jobs.failed': { description: 'Jobs that were given up', labels: ['task'] },
  'postern.jobs.oldest_due': {
    description: 'For how long the oldest job that is due has waited',
    unit: 's',
    labels: [],
  },
  'postern.clean_up.age': {
    description: 'Time since old rows were last removed',
    unit: 's',
    labels: [],
  },
  'postern.password_hashes.waiting': {
    description: 'Passwords waiting to be hashed or compared',
    labels: [],
  },
  'postern.db_pool.connections': {
    description: 'Database connections of the pool: used or idle',
    labels: ['state'],
  },
  'postern.db_pool.waiting': { description: 'Statements waiting for a connection', labels: [] },
  'postern.redis.up': { description: '1 while Redis answers, else 0', labels: [] },
  'postern.ready': { description: '1 while GET /ready says yes, else 0', labels: [] },
  'postern.signing_key.age': {
    description: 'Time since the current signing key was made',
    unit: 's',
    labels: [],
  },
  'process.memory.usage': { description: 'Resident memory', unit: 'By', labels: [] },
  'process.open_file_descriptors': { description: 'Open files and connections', labels: [] },
} as const satisfies Record<string, Instrument>

/** Read when metrics are collected, and only go up. */
export const readCounters = {
  'process.cpu.time': { description: 'Processor time', unit: 's', labels: ['cpu_mode'] },
} as const satisfies Record<string, Instrument>

const read = { ...gauges, ...readCounters }

export type CounterName = keyof typeof counters
export type HistogramName = keyof typeof histograms
export type GaugeName = keyof typeof read

type LabelsOf<I extends Instrument> = Record<I['labels'][number], string>
export type CounterLabels<N extends CounterName> = LabelsOf<(typeof counters)[N]>
export type HistogramLabels<N extends HistogramName> = LabelsOf<(typeof histograms)[N]>
export type GaugeLabels<N extends GaugeName> = LabelsOf<(typeof read)[N]>

export interface Reading<N extends GaugeName> {
  value: number
  labels: GaugeLabels<N>
}
