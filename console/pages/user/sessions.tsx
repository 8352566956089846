import { useState } from 'preact/hooks'

import type { Device } from '../../../schemas/device.ts'
import { changeByApi, getBody } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, Time } from '../../parts/text.tsx'
import type { TabProps } from './tab-props.ts'

export function Sessions({ user }: TabProps) {
  const path = `/admin/users/${user.id}/sessions` as const
  const of = useResource((signal) => getBody(path, signal), path)
  const [isAsking, setAsking] = useState(false)
  const end = async (id: string) => {
    await changeByApi('DELETE', `${path}/${id}`)
    showMessage('The session was revoked')
    of.reload()
  }
  const endAll = async () => {
    await changeByApi('DELETE', path)
    showMessage('All sessions were revoked')
    of.reload()
  }
  const all = (
    <Button
      compact
      kind="danger"
      disabled={!of.data?.sessions.length || !may('DELETE /admin/users/{user_id}/sessions')}
      onClick={() => setAsking(true)}
    >
      End all sessions
    </Button>
  )
  return (
    <Card title="Sessions and devices" flush actions={all}>
      <Loaded of={of}>{({ sessions }) => <Rows sessions={sessions} onEnd={end} />}</Loaded>
      {isAsking && (
        <Confirm
          title="End all sessions"
          submit="End all sessions"
          danger
          onConfirm={endAll}
          onClose={() => setAsking(false)}
        >
          <p>The user is signed out on every device and has to sign in again.</p>
        </Confirm>
      )}
    </Card>
  )
}

function Rows({ sessions, onEnd }: { sessions: Device[]; onEnd: (id: string) => Promise<void> }) {
  if (sessions.length === 0) {
    return <Empty title="Not signed in">Sessions appear here when the user signs in.</Empty>
  }
  const columns: Column<Device>[] = [
    {
      title: 'Device',
      kind: 'wrap',
      cell: ({ user_agent, impersonated_by }) => (
        <span class="row" title={user_agent ?? ''}>
          {deviceName(user_agent)}
          {impersonated_by && <Badge tone="warn">Impersonated</Badge>}
        </span>
      ),
    },
    { title: 'IP address', cell: ({ ip }) => ip ?? '–' },
    { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    { title: 'Signed in', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      title: 'Actions',
      isUntitled: true,
      kind: 'end',
      cell: ({ id, user_agent }) => (
        <Button
          compact
          label={`End the session on ${deviceName(user_agent)}`}
          disabled={!may('DELETE /admin/users/{user_id}/sessions/{id}')}
          onClick={() => onEnd(id)}
        >
          End
        </Button>
      ),
    },
  ]
  return <Table label="Sessions" columns={columns} rows={sessions} getKey={({ id }) => id} />
}

/** Shortens a browser's user agent to two words; others are shown in full. */
const browsers: [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]

const systems: [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
]

function deviceName(agent: string | null): string {
  if (!agent) return 'Unknown device'
  const named = (list: [RegExp, string][]) => list.find(([pattern]) => pattern.test(agent))?.[1]
  const [browser, system] = [named(browsers), named(systems)]
  if (browser && system) return `${browser} on ${system}`
  return browser ?? agent.slice(0, 80)
}
