import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { base, pageUrl } from '../core/base.ts'
import { credential, signOut } from '../core/credentials.ts'
import { formatMoment } from '../core/format.ts'
import { currentImpersonation, endImpersonation } from '../core/impersonation.ts'
import { path } from '../core/router.ts'
import { showError, showMessage } from '../core/toasts.ts'
import { Button } from '../parts/button.tsx'
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

const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

const root = document.documentElement

/** Light, dark, or the system's. The server reads the cookie, so that the page does not flash. */
const theme = signal<Theme>(themes.find((each) => each === root.dataset.theme) ?? 'system')

function setTheme(chosen: Theme): void {
  theme.value = chosen
  if (chosen === 'system') delete root.dataset.theme
  else root.dataset.theme = chosen
  const age = chosen === 'system' ? 0 : 31_536_000
  document.cookie = `postern-console-theme=${chosen}; path=${base}/console; max-age=${age}; samesite=strict`
}

const names = { system: 'System', light: 'Light', dark: 'Dark' }

/** The signed-in user, the theme switch, and sign-out. */
function AccountMenu() {
  const signedIn = credential.value
  const name =
    signedIn.kind === 'session' ? (signedIn.user.email ?? signedIn.user.phone) : 'Service key'
  return (
    <div class="account">
      <div class="small">
        <span class="quiet">Signed in with</span>
        <strong title={name ?? ''}>{name}</strong>
      </div>
      <fieldset class="segments" aria-label="Colours">
        {themes.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={theme.value === each}
            onClick={() => setTheme(each)}
          >
            {names[each]}
          </button>
        ))}
      </fieldset>
      <button type="button" class="button" onClick={() => signOut().catch(showError)}>
        Sign out
      </button>
    </div>
  )
}

/** Shown on every page during an impersonation. */
function ImpersonationBanner() {
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
