import type { SigningKey } from '../../../schemas/signing-key.ts'
import { changeByApi } from '../../core/api.ts'
import { showMessage } from '../../core/toasts.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import type { Keys } from './keys.ts'

interface KeyDialogProps {
  onDone: (keys: Keys) => void
  onClose: () => void
}

const algorithms = [
  ['', 'The configured one'],
  ['RS256', 'RS256'],
  ['ES256', 'ES256'],
  ['EdDSA', 'EdDSA'],
] as const

export function RotateDialog({ onDone, onClose }: KeyDialogProps) {
  const rotate = async ({ alg }: FormFields) => {
    const body = { action: 'rotate', ...(alg && { alg }) }
    onDone(await changeByApi<Keys>('POST', '/admin/keys', body))
    showMessage('A new signing key was created')
  }
  return (
    <Dialog title="Rotate the signing key" onClose={onClose}>
      <Form submit="Rotate" onSubmit={rotate} onCancel={onClose}>
        <p>
          A new key is published first and signs once every verifier knows it. The current key
          verifies until its last token has expired: sessions stay valid.
        </p>
        <SelectField name="alg" label="Algorithm" options={algorithms} />
      </Form>
    </Dialog>
  )
}

export function RevokeDialog({ of, onDone, onClose }: KeyDialogProps & { of: SigningKey }) {
  const revoke = async () => {
    onDone(await changeByApi<Keys>('POST', '/admin/keys', { action: 'revoke', kid: of.kid }))
    showMessage('The key was revoked')
  }
  return (
    <Confirm
      title="Revoke the signing key"
      submit="Revoke"
      danger
      typed="revoke"
      onConfirm={revoke}
      onClose={onClose}
    >
      <p>
        Use this for a compromised key. Every token signed with <code>{of.kid}</code> is rejected
        immediately; sessions get new tokens at their next refresh. This cannot be undone.
      </p>
      {of.pinned_by.length > 0 && (
        <p class="note warn">
          Service tokens that become invalid: {of.pinned_by.map(({ role }) => role).join(', ')}.
        </p>
      )}
    </Confirm>
  )
}
