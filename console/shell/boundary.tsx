import type { ComponentChildren } from 'preact'
import { useErrorBoundary } from 'preact/hooks'

import { errorMessage } from '../core/toasts.ts'
import { Button } from '../parts/button.tsx'

/** An error in one page leaves the rest of the console usable. */
export function Boundary({ children }: { children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary()
  if (error === undefined) return <>{children}</>
  return (
    <div class="state failed" role="alert">
      <h2>This page cannot be shown</h2>
      <p>The console failed: {errorMessage(error)}. Nothing was changed on the server.</p>
      <Button onClick={reset}>Try again</Button>
    </div>
  )
}
