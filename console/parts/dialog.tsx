/** Dialogs: any content, a confirmation, and a secret that is shown once. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'

import { Button } from './button.tsx'
import { TextField } from './fields.tsx'
import { Form } from './form.tsx'
import { Copy } from './text.tsx'

interface DialogProps {
  title: string
  wide?: boolean
  onClose: () => void
  children: ComponentChildren
}

/** Where the focus was may be gone, such as a deleted row. */
function focusContent(): void {
  if (document.activeElement !== document.body) return
  document.getElementById('content')?.focus({ preventScroll: true })
}

/** A native modal dialog, open while it is rendered; Escape closes it. */
export function Dialog({ title, wide, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    return () => {
      // Restores the focus.
      shown?.close()
      setTimeout(focusContent)
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={`dialog ${wide ? 'wide' : ''}`}
      aria-labelledby={id}
      onClose={onClose}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      <div class="body">{children}</div>
    </dialog>
  )
}

interface ConfirmProps {
  title: string
  submit: string
  danger?: boolean
  /** Text that the user must type first, for irreversible actions. */
  typed?: string
  onConfirm: () => unknown
  onClose: () => void
  children?: ComponentChildren
}

/** Asks for confirmation. It closes when the action succeeds, and shows the error otherwise. */
export function Confirm({
  title,
  submit,
  danger,
  typed,
  onConfirm,
  onClose,
  children,
}: ConfirmProps) {
  const [text, setText] = useState('')
  const confirm = async () => {
    await onConfirm()
    onClose()
  }
  const isTyped = typed === undefined || text.trim() === typed
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        submit={submit}
        onSubmit={confirm}
        onCancel={onClose}
        disabled={!isTyped}
        {...(danger && { danger })}
      >
        {children}
        {typed !== undefined && (
          <TextField
            name="typed"
            label={`Type “${typed}” to confirm`}
            onInput={setText}
            autoFocus
          />
        )}
      </Form>
    </Dialog>
  )
}

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
      <SecretOnce text={secret} label={title} onClose={onClose} />
    </Dialog>
  )
}

interface SecretOnceProps {
  text: string
  /** What the button copies. */
  label: string
  onClose: () => void
}

/** A secret to copy, and the button that ends its dialog. */
export function SecretOnce({ text, label, onClose }: SecretOnceProps) {
  return (
    <>
      <div class="secret">
        <Copy text={text} label={label} />
      </div>
      <div class="actions">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </>
  )
}
