import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

import { pageUrl } from '../core/base.ts'

interface PageProps {
  title: string
  /** The parent page. */
  above?: { path: string; title: string }
  about?: ComponentChildren
  actions?: ComponentChildren
  children: ComponentChildren
}

/** A page: heading, actions and content. */
export function Page({ title, above, about, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Postern console`
  }, [title])
  return (
    <div class="page">
      <div class="page-head">
        <div>
          {above && (
            <a class="crumb" href={pageUrl(above.path)}>
              ← {above.title}
            </a>
          )}
          <h1>{title}</h1>
          {about && <div class="quiet">{about}</div>}
        </div>
        {actions && <div class="row">{actions}</div>}
      </div>
      {children}
    </div>
  )
}
