import { useState } from 'preact/hooks'

import { base, pageUrl } from '../core/base.ts'
import {
  type ConsoleSession,
  credential,
  pageSession,
  signInWithKey,
  signOut,
} from '../core/credentials.ts'
import { path, query } from '../core/router.ts'
import { showError } from '../core/toasts.ts'
import { Brand } from './navigation.tsx'

export function SignIn() {
  const now = credential.value
  const session = pageSession.value
  return (
    <div class="sign-in">
      <main>
        <Brand />
        <h1>Sign in to the console</h1>
        {now.kind === 'none' && now.reason && <p role="status">{now.reason}</p>}
        {session?.user ? <Unfinished {...session} /> : <PageSignIn />}
        <KeySignIn />
      </main>
    </div>
  )
}

function PageSignIn() {
  return (
    <a class="button primary" href={`${base}/sign-in?next=${encodeURIComponent(here())}`}>
      Sign in
    </a>
  )
}

/** Signed in on the hosted pages, but not (yet) as an admin. */
function Unfinished({ user, role, required_factor, factor_url, account_url }: ConsoleSession) {
  const name = user?.email ?? user?.phone ?? 'This account'
  return (
    <>
      {!role && (
        <p>
          <strong>{name}</strong> is not an admin of this server. Ask an owner for access, or sign
          in with another account.
        </p>
      )}
      {role && required_factor === 'verification' && (
        <a class="button primary" href={factor_url}>
          Verify your second factor
        </a>
      )}
      {role && required_factor === 'enrollment' && (
        <>
          <p>
            Admins of this server need a second factor. Add one to your account, then come back.
          </p>
          {account_url ? (
            <a class="button primary" href={account_url}>
              Add a second factor
            </a>
          ) : (
            <p>
              The account page is off. Set AUTH_ACCOUNT_PAGE_ENABLED, or add the factor in your app.
            </p>
          )}
        </>
      )}
      <button type="button" class="button" onClick={() => signOut().catch(showError)}>
        Sign out {name}
      </button>
    </>
  )
}

function KeySignIn() {
  const [key, setKey] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    signInWithKey(key.trim())
  }
  return (
    <details>
      <summary>Use a service key instead</summary>
      <form class="form" onSubmit={submit}>
        <div class="field">
          <label for="service-key">Service key</label>
          <input
            id="service-key"
            type="password"
            autoComplete="off"
            spellcheck={false}
            required
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
            aria-describedby="service-key-hint"
          />
          <span class="hint" id="service-key-hint">
            Kept in memory until you close or reload this page. It is not stored and not part of any
            URL.
          </span>
        </div>
        <button type="submit" class="button primary">
          Sign in with the key
        </button>
      </form>
    </details>
  )
}

/** The requested page, as the parameter of the sign-in pages. */
function here(): string {
  const text = query.value.toString()
  const to = pageUrl(path.value).slice(base.length)
  return text ? `${to}?${text}` : to
}
