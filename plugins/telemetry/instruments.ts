/**
 * What is counted and measured, by name. A label takes its values from a short list in our code, never from people,
 * addresses or paths as they were typed: the number of series must not grow with use.
 */

interface Instrument {
  description: string
  unit?: string
  labels: readonly string[]
}

/** Only go up. */
export const counters = {
  'postern.sign_ins': {
    description: 'Attempts to open a session',
    labels: ['method', 'outcome'],
  },
  'postern.events': {
    description: 'What the audit trail records: sign-ups, sign-ins, changes',
    labels: ['action'],
  },
  'postern.token_refreshes': {
    description: 'Refresh tokens presented: rotated, reused, reuse_detected or refused',
    labels: ['outcome'],
  },
  'postern.mails': {
    description: 'Attempts to hand over a mail: sent, temporary, permanent or ambiguous',
    labels: ['outcome'],
  },
  'postern.text_messages': {
    description: 'Attempts to hand over a text message: sent or failed',
    labels: ['outcome'],
  },
  'postern.hook_calls': {
    description: 'Calls of hooks: answered, refused, unreachable, failed, silent or unreadable',
    labels: ['hook', 'outcome'],
  },
  'postern.webhook_deliveries': {
    description: 'Attempts to deliver an event to a webhook: delivered, waiting or dead',
    labels: ['outcome'],
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
  },
} as const satisfies Record<string, Instrument>

/** Read when metrics are collected. */
export const gauges = {
  'postern.mails.waiting': { description: 'Mails not sent yet', labels: [] },
  'postern.mails.oldest_waiting': {
    description: 'Age of the oldest mail not sent yet',
    unit: 's',
    labels: [],
  },
  'postern.mails.dead': { description: 'Mails given up, kept for the operator', labels: [] },
  'postern.password_hashes.waiting': {
    description: 'Passwords waiting to be hashed or compared',
    labels: [],
  },
  'postern.db_pool.connections': {
    description: 'Database connections of the pool: used or idle',
    labels: ['state'],
  },
  'postern.db_pool.waiting': { description: 'Statements waiting for a connection', labels: [] },
  'postern.signing_key.age': {
    description: 'Time since the current signing key was made',
    unit: 's',
    labels: [],
  },
} as const satisfies Record<string, Instrument>

export type CounterName = keyof typeof counters
export type GaugeName = keyof typeof gauges

type LabelsOf<I extends Instrument> = Record<I['labels'][number], string>
export type CounterLabels<N extends CounterName> = LabelsOf<(typeof counters)[N]>
export type GaugeLabels<N extends GaugeName> = LabelsOf<(typeof gauges)[N]>

export interface Reading<N extends GaugeName> {
  value: number
  labels: GaugeLabels<N>
}
