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

/** Submits its fields by name, checkboxes as "on". API errors appear above the buttons. */
export function Form({ submit, danger, disabled, onSubmit, onCancel, children }: FormProps) {
  const [state, setState] = useState<{ busy: boolean; error?: string }>({ busy: false })
  const send = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    if (state.busy) return
    const fields = readFields(event.currentTarget)
    setState({ busy: true })
    try {
      await onSubmit(fields)
      setState({ busy: false })
    } catch (error) {
      setState({ busy: false, error: errorMessage(error) })
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

function readFields(form: HTMLFormElement): FormFields {
  const entries = [...new FormData(form)]
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}
