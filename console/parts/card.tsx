import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface CardProps {
  title: string
  actions?: ComponentChildren
  /** For a table without padding. */
  flush?: boolean
  children: ComponentChildren
}

/** A section with a heading. */
export function Card({ title, actions, flush, children }: CardProps) {
  const id = useId()
  return (
    <section class={`card ${flush ? 'flush' : ''}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {actions && <div class="row">{actions}</div>}
      </header>
      {children}
    </section>
  )
}
