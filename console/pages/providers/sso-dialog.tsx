import { changeByApi } from '../../core/api.ts'
import { fromLines } from '../../core/lines.ts'
import { showMessage } from '../../core/toasts.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { AreaField, TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'

export function SsoDialog({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const add = async ({ metadata_url, metadata_xml, domains }: FormFields) => {
    await changeByApi('POST', '/admin/sso/providers', {
      type: 'saml',
      ...(metadata_url ? { metadata_url } : { metadata_xml }),
      domains: fromLines(domains),
    })
    showMessage('The provider was added')
    onDone()
    onClose()
  }
  return (
    <Dialog title="Add an identity provider" onClose={onClose}>
      <Form submit="Add provider" onSubmit={add} onCancel={onClose}>
        <TextField name="metadata_url" type="url" label="Metadata URL" autoFocus />
        <AreaField
          name="metadata_xml"
          label="Or the metadata"
          hint="XML; used without a URL"
          code
          rows={5}
        />
        <AreaField
          name="domains"
          label="Domains"
          hint="Of email addresses, one per line"
          code
          rows={3}
        />
      </Form>
    </Dialog>
  )
}
