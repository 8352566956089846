import { pageUrl } from '../core/base.ts'
import { formatMoment } from '../core/format.ts'
import { currentImpersonation, endImpersonation } from '../core/impersonation.ts'
import { showMessage } from '../core/toasts.ts'
import { Button } from '../parts/button.tsx'

/** Shown on every page during an impersonation. */
export function ImpersonationBanner() {
  const open = currentImpersonation.value
  if (!open) return null
  const copy = async () => {
    await navigator.clipboard.writeText(open.accessToken)
    showMessage('The access token was copied')
  }
  const end = async () => {
    await endImpersonation()
    showMessage(`The session of ${open.name} was ended`)
  }
  return (
    <section class="banner" aria-label="Impersonation">
      <span>
        You are impersonating <a href={pageUrl(`/users/${open.userId}`)}>{open.name}</a> until{' '}
        {formatMoment(new Date(open.expiresAt).toISOString())}.
      </span>
      <span class="row">
        <Button compact onClick={copy}>
          Copy access token
        </Button>
        <Button compact kind="danger" onClick={end}>
          End session
        </Button>
      </span>
    </section>
  )
}
