import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Copy } from './text.tsx'

interface SecretDialogProps {
  title: string
  secret: string
  onClose: () => void
}

/** A secret that the API shows once. */
export function SecretDialog({ title, secret, onClose }: SecretDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>Copy it now: it cannot be shown again.</p>
      <div class="secret">
        <Copy text={secret} label={title} />
      </div>
      <div class="actions">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
