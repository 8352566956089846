/** Messages about completed actions, some of which can be undone. */
import { signal } from '@preact/signals'

export interface Toast {
  id: number
  kind: 'done' | 'failed'
  text: string
  undo?: () => Promise<unknown>
}

export const toasts = signal<readonly Toast[]>([])

let last = 0
const displayMs = 8_000
/** Enough to reach the button with the keyboard. */
const undoableMs = 30_000

export function showMessage(text: string, undo?: () => Promise<unknown>): void {
  show({ kind: 'done', text, ...(undo && { undo }) })
}

export function showError(error: unknown): void {
  show({ kind: 'failed', text: errorMessage(error) })
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function show(toast: Omit<Toast, 'id'>): void {
  last += 1
  const id = last
  toasts.value = [...toasts.value.slice(-2), { ...toast, id }]
  // An error stays until it is dismissed.
  if (toast.kind === 'done') setTimeout(() => dismiss(id), toast.undo ? undoableMs : displayMs)
}
