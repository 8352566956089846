import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

import { showError } from '../core/toasts.ts'

interface ButtonProps {
  kind?: 'plain' | 'primary' | 'danger' | 'danger primary' | 'quiet'
  compact?: boolean
  type?: 'button' | 'submit'
  disabled?: boolean | undefined
  busy?: boolean
  /** For screen readers, when the text alone is ambiguous. */
  label?: string
  onClick?: () => unknown
  children: ComponentChildren
}

/** Busy while its action runs; an error is shown as a message. */
export function Button(props: ButtonProps) {
  const { kind = 'plain', compact, type = 'button', disabled, label, onClick, children } = props
  const [isRunning, setRunning] = useState(false)
  const isBusy = isRunning || props.busy === true
  const run = async () => {
    if (isBusy || !onClick) return
    setRunning(true)
    try {
      await onClick()
    } catch (error) {
      showError(error)
    } finally {
      setRunning(false)
    }
  }
  return (
    <button
      type={type}
      class={`button ${kind} ${compact ? 'compact' : ''}`}
      disabled={disabled}
      aria-busy={isBusy}
      aria-label={label}
      onClick={onClick && run}
    >
      {children}
    </button>
  )
}
