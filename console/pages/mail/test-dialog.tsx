import { useState } from 'preact/hooks'

import { changeByApi, getBody } from '../../core/api.ts'
import { formatName } from '../../core/format.ts'
import { useResource } from '../../core/resource.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Loaded } from '../../parts/states.tsx'
import type { TemplateList } from './mail.ts'

export function TestButton() {
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
  const of = useResource((signal) => getBody<TemplateList>('/admin/mail/templates', signal), 'all')
  const send = async (fields: FormFields) => {
    const { response } = await changeByApi<{ response: string }>('POST', '/admin/mail/test', fields)
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
