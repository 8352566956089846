import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { path } from '../core/router.ts'
import { AccountMenu } from './account.tsx'
import { ImpersonationBanner } from './impersonation-banner.tsx'
import { Brand, Navigation } from './navigation.tsx'

/** Navigation next to the page; on small screens, behind a button. */
export function Frame({ children }: { children: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <div class="shell">
        <div class="side">
          <Brand />
          <Navigation />
          <AccountMenu />
        </div>
        <div>
          <SmallScreenBar />
          <ImpersonationBanner />
          <main class="content" id="content" tabIndex={-1}>
            {children}
          </main>
        </div>
      </div>
    </>
  )
}

function SmallScreenBar() {
  const drawer = useRef<HTMLDialogElement>(null)
  const current = path.value
  useEffect(() => {
    if (current) drawer.current?.close()
  }, [current])
  return (
    <header class="top">
      <Brand />
      <button type="button" class="button" onClick={() => drawer.current?.showModal()}>
        Menu
      </button>
      <dialog ref={drawer} class="drawer" aria-label="Menu">
        <div class="row spread">
          <Brand />
          <button type="button" class="button quiet" onClick={() => drawer.current?.close()}>
            Close
          </button>
        </div>
        <Navigation />
        <AccountMenu />
      </dialog>
    </header>
  )
}
