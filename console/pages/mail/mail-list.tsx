import { useState } from 'preact/hooks'

import { changeByApi, requestApi, withQuery } from '../../core/api.ts'
import { pageUrl } from '../../core/base.ts'
import { formatName, formatRelative } from '../../core/format.ts'
import { may } from '../../core/me.ts'
import { usePages } from '../../core/resource.ts'
import { query, setQuery } from '../../core/router.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { MailStatus } from '../../parts/mail-status.tsx'
import { PagedRows } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/text.tsx'
import type { Mail } from './mail.ts'

const states = [
  ['', 'All'],
  ['waiting', 'Waiting'],
  ['dead', 'Not delivered'],
  ['sent', 'Sent'],
] as const

export function MailList() {
  const state = query.value.get('state') ?? ''
  const pages = usePages(async (cursor, signal) => {
    const path = withQuery('/admin/mail', { state, cursor, limit: 50 })
    const { mails, next_cursor } = (await requestApi(path, { signal })).body
    return { items: mails, next: next_cursor ?? undefined }
  }, state)
  return (
    <>
      <div class="row spread">
        <fieldset class="segments" aria-label="State">
          {states.map(([value, text]) => (
            <button
              key={value}
              type="button"
              aria-pressed={value === state}
              onClick={() => setQuery({ state: value }, { replace: false })}
            >
              {text}
            </button>
          ))}
        </fieldset>
        {state === 'dead' && <RetryAll onDone={pages.reload} />}
      </div>
      <Card title="Deliveries" flush>
        <PagedRows
          pages={pages}
          empty={{
            title: 'No emails',
            text: 'Sent emails are listed for 7 days, those that were not delivered for 30.',
          }}
        >
          {(mails) => <Mails mails={mails} onChange={pages.reload} />}
        </PagedRows>
      </Card>
    </>
  )
}

function Mails({ mails, onChange }: { mails: Mail[]; onChange: () => void }) {
  const retry = async ({ id, uncertain }: Mail) => {
    await changeByApi('POST', `/admin/mail/${id}/retry`, uncertain ? { uncertain: true } : {})
    showMessage('The email was queued again')
    onChange()
  }
  const drop = async ({ id }: Mail) => {
    await changeByApi('DELETE', `/admin/mail/${id}`)
    showMessage('The email was dropped')
    onChange()
  }
  const columns: Column<Mail>[] = [
    { title: 'Email', cell: ({ kind }) => formatName(kind) },
    { title: 'Status', cell: ({ status }) => <MailStatus status={status} /> },
    { title: 'User', kind: 'nowrap', cell: ({ user_id }) => <UserLink id={user_id} /> },
    { title: 'Attempts', kind: 'end', cell: ({ attempts }) => attempts },
    { title: 'Queued', cell: ({ created_at }) => <Time at={created_at} /> },
    { title: 'Response of the mail server', kind: 'wrap', cell: ({ response }) => response ?? '–' },
    {
      title: 'Actions',
      isUntitled: true,
      kind: 'end',
      cell: (mail) => <MailActions mail={mail} onRetry={retry} onDrop={drop} />,
    },
  ]
  return <Table label="Emails" columns={columns} rows={mails} getKey={({ id }) => id} />
}

interface MailActionsProps {
  mail: Mail
  onRetry: (mail: Mail) => Promise<void>
  onDrop: (mail: Mail) => Promise<void>
}

function MailActions({ mail, onRetry, onDrop }: MailActionsProps) {
  if (mail.status === 'sent') return null
  const name = `${formatName(mail.kind)}, queued ${formatRelative(mail.created_at)}`
  const retry = mail.uncertain ? 'Send again (may be a duplicate)' : 'Retry'
  return (
    <span class="row nowrap">
      {mail.retryable && (
        <Button
          compact
          label={`${retry}: ${name}`}
          disabled={!may('POST /admin/mail/{id}/retry')}
          onClick={() => onRetry(mail)}
        >
          {retry}
        </Button>
      )}
      <Button
        compact
        kind="danger"
        label={`Drop: ${name}`}
        disabled={!may('DELETE /admin/mail/{id}')}
        onClick={() => onDrop(mail)}
      >
        Drop
      </Button>
    </span>
  )
}

function RetryAll({ onDone }: { onDone: () => void }) {
  const [isAsking, setAsking] = useState(false)
  const run = async () => {
    const { queued } = await changeByApi('POST', '/admin/mail/retry', {})
    showMessage(`${queued} emails were queued again`)
    onDone()
  }
  return (
    <>
      <Button disabled={!may('POST /admin/mail/retry')} onClick={() => setAsking(true)}>
        Retry all
      </Button>
      {isAsking && (
        <Confirm
          title="Retry all emails that were not delivered"
          submit="Retry all"
          onConfirm={run}
          onClose={() => setAsking(false)}
        >
          <p>Emails with an expired link are not retried. Fix the reported problem first.</p>
        </Confirm>
      )}
    </>
  )
}

function UserLink({ id }: { id: string | null }) {
  return id ? <a href={pageUrl(`/users/${id}`)}>{id.slice(0, 8)}</a> : <span class="quiet">–</span>
}
