import { pageUrl } from '../../core/base.ts'
import { formatCount } from '../../core/format.ts'
import type { ShownStatistics } from './statistics.ts'

interface Figure {
  name: string
  value: string
  note: string
  path: string
  isBad?: boolean
}

/** Key figures; each links to its page. */
export function Figures(statistics: ShownStatistics) {
  return (
    <ul class="figures">
      {toFigures(statistics).map(({ name, value, note, path, isBad }) => (
        <li key={name}>
          <a href={pageUrl(path)}>
            <span class="quiet">{name}</span>
            <strong>{value}</strong>
            <span class={isBad ? 'small bad' : 'small quiet'}>{note}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function toFigures({ users, sessions, mail, webhooks }: ShownStatistics): Figure[] {
  const added = users.new.reduce((sum, { count }) => sum + count, 0)
  const about = (exact: boolean) => (exact ? '' : 'about ')
  return [
    {
      name: 'Users',
      value: about(users.exact) + formatCount(users.total),
      note: `${formatCount(added)} new in this period`,
      path: '/users',
    },
    {
      name: 'Active sessions',
      value: about(sessions.exact) + formatCount(sessions.active),
      note: 'Now',
      path: '/users',
    },
    {
      name: 'Emails waiting',
      value: formatCount(mail.waiting),
      note: mail.dead > 0 ? `${formatCount(mail.dead)} not delivered` : 'None undelivered',
      path: '/mail',
      isBad: mail.dead > 0,
    },
    {
      name: 'Webhooks',
      value: formatCount(webhooks.active),
      note: webhooks.failing.length > 0 ? `${webhooks.failing.length} failing` : 'None failing',
      path: '/webhooks',
      isBad: webhooks.failing.length > 0,
    },
  ]
}
