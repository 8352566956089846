import { getBody } from '../../core/api.ts'
import { has, may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { Page } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { currentTab, Tabs } from '../../parts/tabs.tsx'
import { CustomProviders } from './custom-providers.tsx'
import type { ListedProvider } from './provider.ts'
import { ProviderTable } from './provider-table.tsx'
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
  const of = useResource(
    (signal) => getBody<{ providers: ListedProvider[] }>('/admin/providers', signal),
    'all',
  )
  return <Loaded of={of}>{({ providers }) => <ProviderTable providers={providers} />}</Loaded>
}
