import { useState } from 'preact/hooks'

import { changeByApi, getBody } from '../../core/api.ts'
import { formatName } from '../../core/format.ts'
import { has, may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Page } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { currentTab, Tabs } from '../../parts/tabs.tsx'
import { Badge, Copy } from '../../parts/text.tsx'
import { CustomProviders } from './custom-providers.tsx'
import { SsoProviders } from './sso-providers.tsx'

const all = [
  ['all', 'Providers'],
  ['custom', 'Custom providers'],
  ['sso', 'Single sign-on'],
] as const

const isShown = {
  all: () => may('GET /admin/providers'),
  custom: () => has('custom_providers'),
  sso: () => has('saml'),
}

export function ProvidersPage() {
  const tabs = all.filter(([name]) => isShown[name]())
  const tab = currentTab({ tabs })
  return (
    <Page title="Providers" about="External accounts that users can sign in with.">
      <Tabs label="Providers" tabs={tabs} />
      {tab === 'custom' && <CustomProviders />}
      {tab === 'sso' && <SsoProviders />}
      {tab === 'all' && <AllProviders />}
    </Page>
  )
}

function AllProviders() {
  const of = useResource((signal) => getBody('/admin/providers', signal), 'all')
  return <Loaded of={of}>{({ providers }) => <ProviderTable providers={providers} />}</Loaded>
}

/** Enabled providers first: the others only lack their variables. */
function ProviderTable({ providers }: { providers: ListedProvider[] }) {
  const [tested, setTested] = useState<{ provider: ListedProvider; outcome: TestOutcome }>()
  const test = async (provider: ListedProvider) => {
    const path = `/admin/providers/${encodeURIComponent(provider.name)}/test` as const
    setTested({ provider, outcome: await changeByApi('POST', path) })
  }
  const rows = providers.toSorted(
    (one, other) =>
      Number(other.enabled) - Number(one.enabled) || one.title.localeCompare(other.title),
  )
  return (
    <Card title="All providers" flush>
      <Table label="Providers" columns={columnsFor(test)} rows={rows} getKey={({ name }) => name} />
      {tested && <Outcome {...tested} onClose={() => setTested(undefined)} />}
    </Card>
  )
}

function columnsFor(test: (provider: ListedProvider) => Promise<void>): Column<ListedProvider>[] {
  return [
    { title: 'Provider', cell: ({ title, name }) => <span title={name}>{title}</span> },
    {
      title: 'State',
      cell: ({ enabled }) => (
        <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? 'On' : 'Off'}</Badge>
      ),
    },
    { title: 'Kind', cell: ({ kind }) => formatName(kind) },
    {
      title: 'Client id',
      kind: 'wrap',
      cell: ({ client_id }) => (client_id ? <code>{client_id}</code> : '–'),
    },
    { title: 'Secret', cell: ({ has_secret }) => (has_secret ? 'Set' : '–') },
    {
      title: 'Callback URL',
      kind: 'wrap',
      cell: ({ callback_url, title }) => (
        <Copy text={callback_url} label={`the callback URL of ${title}`} />
      ),
    },
    {
      title: 'Actions',
      isUntitled: true,
      kind: 'end',
      cell: (provider) => (
        <Button
          compact
          disabled={!provider.enabled || !may('POST /admin/providers/{name}/test')}
          label={`Test ${provider.title}`}
          onClick={() => test(provider)}
        >
          Test
        </Button>
      ),
    },
  ]
}

interface OutcomeProps {
  provider: ListedProvider
  outcome: TestOutcome
  onClose: () => void
}

function Outcome({ provider, outcome, onClose }: OutcomeProps) {
  return (
    <Dialog title={`Test of ${provider.title}`} onClose={onClose}>
      <p class={`note ${outcome.ok ? 'good' : 'bad'}`}>
        {outcome.ok
          ? 'The provider can be reached.'
          : 'Users cannot sign in with this provider at present.'}
      </p>
      <ul class="steps">
        {outcome.steps.map(({ step, ok, detail }) => (
          <li key={step}>
            <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'Passed' : 'Failed'}</Badge>{' '}
            <strong>{formatName(step)}</strong>
            <div class="quiet small">{detail}</div>
          </li>
        ))}
      </ul>
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}

/** GET /admin/providers. */
interface ListedProvider {
  name: string
  title: string
  kind: 'built-in' | 'oidc' | 'custom'
  enabled: boolean
  callback_url: string
  client_id: string | null
  has_secret: boolean
  issuer: string | null
}

interface TestOutcome {
  ok: boolean
  steps: { step: string; ok: boolean; detail: string }[]
}
