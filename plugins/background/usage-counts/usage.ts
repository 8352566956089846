/** The telemetry counters that the console shows without telemetry. */
import type { UsageCount } from '../../../db/statistics/usage-counts.ts'
import type { CounterName } from '../../observability/telemetry/instruments.ts'

type Labels = Readonly<Record<string, string>>
type Usage = Pick<UsageCount, 'kind' | 'name' | 'outcome'>

/** A refresh is not a sign-in. */
const notSignIns: readonly string[] = ['refresh_token', '']

const readers: Partial<Record<CounterName, (labels: Labels) => Usage | undefined>> = {
  'postern.sign_ins': ({ method = '', outcome }) => {
    if (outcome === 'accepted') return signIn(method, 'success')
    // Rejected ones are counted with their reason.
    return outcome === 'failed' ? signIn(method, 'error') : undefined
  },
  'postern.sign_in_failures': ({ method = '', reason = '' }) =>
    signIn(method, reason.startsWith('over_') ? 'limited' : 'failed'),
  'postern.rate_limit.exceeded': ({ limiter = '' }) => rejected(limiter),
  'postern.send_quota.exceeded': ({ channel = '' }) => rejected(`send_quota_${channel}`),
  'postern.hook_calls': ({ hook = '', outcome = '' }) => ({
    kind: 'hook',
    name: hook,
    outcome: outcome === 'ok' || outcome === 'rejected' ? 'success' : 'failed',
  }),
}

function signIn(method: string, outcome: string): Usage | undefined {
  return notSignIns.includes(method) ? undefined : { kind: 'sign_in', name: method, outcome }
}

const rejected = (name: string): Usage => ({ kind: 'limit', name, outcome: 'rejected' })

export function toUsage(counter: CounterName, labels: Labels): Usage | undefined {
  return readers[counter]?.(labels)
}
