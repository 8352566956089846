import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

import { errorMessage } from '../core/toasts.ts'
import { Button } from './button.tsx'

export type FormFields = Record<string, string>

interface FormProps {
  submit: string
  danger?: boolean
  disabled?: boolean
  onSubmit: (fields: FormFields) => unknown
  onCancel?: () => void
  children?: ComponentChildren
}

/**
 * Submits its fields by name, checkboxes as "on". API errors appear above the buttons; the field that one begins with is
 * named by its label and gets the focus.
 */
export function Form({ submit, danger, disabled, onSubmit, onCancel, children }: FormProps) {
  const [state, setState] = useState<{ busy: boolean; error?: string }>({ busy: false })
  const send = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    if (state.busy) return
    const form = event.currentTarget
    const fields = readFields(form)
    setState({ busy: true })
    try {
      await onSubmit(fields)
      setState({ busy: false })
    } catch (error) {
      setState({ busy: false, error: nameField(form, errorMessage(error)) })
    }
  }
  return (
    <form class="form" onSubmit={send}>
      {children}
      {state.error && (
        <p class="note bad" role="alert">
          {state.error}
        </p>
      )}
      <div class={`actions ${onCancel ? '' : 'start'}`}>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button
          type="submit"
          kind={danger ? 'danger primary' : 'primary'}
          busy={state.busy}
          disabled={disabled}
        >
          {submit}
        </Button>
      </div>
    </form>
  )
}

function nameField(form: HTMLFormElement, message: string): string {
  const [, name = '', rest = ''] = /^(\w+): ?(.*)$/s.exec(message) ?? []
  const field = name === '' ? null : form.elements.namedItem(name)
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return message
  field.focus()
  const label = field.labels?.[0]?.textContent
  return label ? `${label}: ${rest}` : message
}

function readFields(form: HTMLFormElement): FormFields {
  const entries = [...new FormData(form)]
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}
