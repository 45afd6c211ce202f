package forge

type RepositoriesService struct{ service }
type NamespacesService struct{ service }
type IssuesService struct{ service }
