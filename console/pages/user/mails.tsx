import { getBody } from '../../core/api.ts'
import { formatName } from '../../core/format.ts'
import { useResource } from '../../core/resource.ts'
import type { ShownEmailDelivery } from '../../core/shapes.ts'
import { Card } from '../../parts/card.tsx'
import { MailStatus } from '../../parts/mail-status.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/text.tsx'
import type { TabProps } from './tab-props.ts'

const columns: Column<ShownEmailDelivery>[] = [
  { title: 'Email', cell: ({ kind }) => formatName(kind) },
  { title: 'Status', cell: ({ status }) => <MailStatus status={status} /> },
  { title: 'Attempts', kind: 'end', cell: ({ attempts }) => attempts },
  { title: 'Queued', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Sent', cell: ({ sent_at }) => <Time at={sent_at} /> },
  { title: 'Response of the mail server', kind: 'wrap', cell: ({ response }) => response ?? '–' },
]

export function Mails({ user }: TabProps) {
  const path = `/admin/users/${user.id}/mails`
  const of = useResource((signal) => getBody<{ mails: ShownEmailDelivery[] }>(path, signal), path)
  return (
    <Card title="Emails to this user" flush>
      <Loaded of={of}>
        {({ mails }) =>
          mails.length === 0 ? (
            <Empty title="No emails">
              Sent emails are listed for 7 days, those that were not sent for 30.
            </Empty>
          ) : (
            <Table label="Emails" columns={columns} rows={mails} getKey={({ id }) => id} />
          )
        }
      </Loaded>
    </Card>
  )
}
