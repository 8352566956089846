import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

import { Dialog } from './dialog.tsx'
import { TextField } from './fields.tsx'
import { Form } from './form.tsx'

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
