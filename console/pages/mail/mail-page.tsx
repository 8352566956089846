import { useState } from 'preact/hooks'

import { changeByApi, getBody, withQuery } from '../../core/api.ts'
import { formatName } from '../../core/format.ts'
import { may } from '../../core/me.ts'
import { useResource } from '../../core/resource.ts'
import { query, setQuery } from '../../core/router.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Page } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { currentTab, Tabs } from '../../parts/tabs.tsx'
import { Lines } from '../../parts/text.tsx'
import type { TemplateList } from './mail.ts'
import { MailFrame } from './mail-frame.tsx'
import { MailList } from './mail-list.tsx'

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

function TestButton() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>Send a test</Button>
      {isOpen && <TestDialog onClose={() => setOpen(false)} />}
    </>
  )
}

/** Shows the mail server's response. */
function TestDialog({ onClose }: { onClose: () => void }) {
  const of = useResource((signal) => getBody('/admin/mail/templates', signal), 'all')
  const send = async (fields: FormFields) => {
    const { response } = await changeByApi('POST', '/admin/mail/test', fields)
    showMessage(`The mail server accepted the email: ${response}`)
    onClose()
  }
  return (
    <Dialog title="Send a test email" onClose={onClose}>
      <Loaded of={of} lines={3}>
        {({ kinds, languages, default_language }) => (
          <Form submit="Send" onSubmit={send} onCancel={onClose}>
            <TextField name="address" type="email" label="To" required autoFocus />
            <SelectField
              name="kind"
              label="Email"
              options={kinds.map((kind) => [kind, formatName(kind)])}
            />
            <SelectField
              name="locale"
              label="Language"
              value={default_language}
              options={languages.map(({ tag, name }) => [tag, name ?? tag])}
            />
          </Form>
        )}
      </Loaded>
    </Dialog>
  )
}

/** Previews of each email in each language. */
function Templates() {
  const of = useResource((signal) => getBody('/admin/mail/templates', signal), 'all')
  return <Loaded of={of}>{(list) => <Preview {...list} />}</Loaded>
}

function Preview({ kinds, languages, default_language }: TemplateList) {
  const kind = query.value.get('kind') ?? kinds[0] ?? ''
  const locale = query.value.get('locale') ?? default_language
  const path = withQuery('/admin/mail/preview', { kind, locale })
  const of = useResource((signal) => getBody(path, signal), path)
  return (
    <>
      <div class="columns">
        <SelectField
          name="kind"
          label="Email"
          value={kind}
          options={kinds.map((each) => [each, formatName(each)])}
          onInput={(value) => setQuery({ kind: value })}
        />
        <SelectField
          name="locale"
          label="Language"
          value={locale}
          options={languages.map(({ tag, name }) => [tag, name ? `${name} (${tag})` : tag])}
          onInput={(value) => setQuery({ locale: value })}
        />
      </div>
      <Loaded of={of}>
        {({ subject, html, text }) => (
          <>
            <Card title={subject}>
              <MailFrame html={html} title={`The email “${subject}”`} />
            </Card>
            <Card title="As plain text">
              <Lines label="The email as plain text">{text}</Lines>
            </Card>
          </>
        )}
      </Loaded>
    </>
  )
}
