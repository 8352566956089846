import { dismiss, showError, type Toast, toasts } from '../core/toasts.ts'

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <Message key={toast.id} {...toast} />
      ))}
    </div>
  )
}

function Message({ id, kind, text, undo }: Toast) {
  const undone = () => {
    dismiss(id)
    undo?.().catch(showError)
  }
  return (
    <div class={`toast ${kind}`}>
      <span>{text}</span>
      <span class="row">
        {undo && (
          <button type="button" onClick={undone}>
            Undo
          </button>
        )}
        <button type="button" onClick={() => dismiss(id)}>
          Dismiss
        </button>
      </span>
    </div>
  )
}
