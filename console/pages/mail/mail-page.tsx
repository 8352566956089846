import { may } from '../../core/me.ts'
import { Page } from '../../parts/page.tsx'
import { currentTab, Tabs } from '../../parts/tabs.tsx'
import { MailList } from './mail-list.tsx'
import { Templates } from './templates.tsx'
import { TestButton } from './test-dialog.tsx'

const tabs = [
  ['queue', 'Deliveries'],
  ['templates', 'Templates'],
] as const

export function MailPage() {
  return (
    <Page title="Email" actions={may('POST /admin/mail/test') && <TestButton />}>
      <Tabs label="Email" tabs={tabs} />
      {currentTab({ tabs }) === 'templates' ? <Templates /> : <MailList />}
    </Page>
  )
}
