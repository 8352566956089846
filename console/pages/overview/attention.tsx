import { pageUrl } from '../../core/base.ts'
import { formatRelative } from '../../core/format.ts'
import type { ShownStatistics } from './statistics.ts'

interface Concern {
  text: string
  path: string
  link: string
}

const oldKeyDays = 365
const lateMailMs = 15 * 60_000

/** Problems that need an operator; empty without any. */
export function Attention(statistics: ShownStatistics) {
  const concerns = findConcerns(statistics)
  if (concerns.length === 0) return null
  return (
    <section class="note warn" aria-label="Needs attention">
      <h2>Needs attention</h2>
      <ul>
        {concerns.map(({ text, path, link }) => (
          <li key={text}>
            {text} <a href={pageUrl(path)}>{link}</a>
          </li>
        ))}
      </ul>
    </section>
  )
}

function findConcerns({ mail, webhooks, hooks, keys }: ShownStatistics): Concern[] {
  const { oldest_waiting: oldest } = mail
  const isLate = oldest !== null && Date.now() - new Date(oldest).getTime() > lateMailMs
  return [
    ...(mail.dead > 0
      ? [
          {
            text: `${mail.dead} emails were not delivered.`,
            path: '/mail?state=dead',
            link: 'See why',
          },
        ]
      : []),
    ...(isLate
      ? [
          {
            text: `The oldest queued email is from ${formatRelative(oldest)}.`,
            path: '/mail',
            link: 'See the queue',
          },
        ]
      : []),
    ...webhooks.failing.map(({ id, url, reason, failures }) => ({
      text: `The webhook to ${url} ${reason ?? `failed ${failures} times in a row`}.`,
      path: `/webhooks/${id}`,
      link: 'See its deliveries',
    })),
    ...hooks
      .filter(({ failures }) => failures > 0)
      .map(({ name, failures, calls }) => ({
        text: `The hook ${name} failed ${failures} of ${calls} times.`,
        path: '/hooks',
        link: 'See the hooks',
      })),
    ...keys
      .filter(({ state, age_days }) => state === 'current' && age_days > oldKeyDays)
      .map(({ kid, age_days }) => ({
        text: `The signing key ${kid} is ${age_days} days old.`,
        path: '/keys',
        link: 'Rotate it',
      })),
  ]
}
